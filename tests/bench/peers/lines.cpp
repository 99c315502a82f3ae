// lines FILE: reads each line as JSON and adds up what its payload holds, as a replay must at least (bench_replay).
// c++ -O3 -o lines lines.cpp -lsimdjson (Debian: libsimdjson-dev)
#include <simdjson.h>

#include <cstdio>

int main(int argc, char **argv)
{
    simdjson::dom::parser parser;
    simdjson::dom::document_stream lines;
    size_t members = 0;
    if (argc != 2 || parser.load_many(argv[1]).get(lines) != simdjson::SUCCESS) {
        return 1;
    }
    for (auto line : lines) {
        simdjson::dom::object payload;
        if (line["payload"].get(payload) != simdjson::SUCCESS) {
            return 1;
        }
        members += payload.size();
    }
    std::printf("%zu\n", members);
    return 0;
}
