// lines FILE: reads each line as JSON and adds up what its payload holds, as a replay must at least (bench_replay).
// c++ -O3 -march=native -o lines lines.cpp -lsimdjson (Debian: libsimdjson-dev)
#include <simdjson.h>

#include <cstdio>

int main(int argc, char **argv)
{
    simdjson::padded_string text;
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document_stream lines;
    size_t members = 0;
    if (argc != 2 || simdjson::padded_string::load(argv[1]).get(text) != simdjson::SUCCESS ||
        parser.iterate_many(text).get(lines) != simdjson::SUCCESS) {
        return 1;
    }
    for (auto line : lines) {
        simdjson::ondemand::object payload;
        size_t count;
        if (line["payload"].get(payload) != simdjson::SUCCESS ||
            payload.count_fields().get(count) != simdjson::SUCCESS) {
            return 1;
        }
        members += count;
    }
    std::printf("%zu\n", members);
    return 0;
}
