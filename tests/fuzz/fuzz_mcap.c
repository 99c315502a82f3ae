/* Any bytes as an MCAP file: reading ends, with messages that lie in the file, or an error. */
#undef NDEBUG /* its checks are asserts, in every build */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "logger/mcap/mcap_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcap_reader *reader = NULL;
    struct mcap_message m;
    struct err err = {0};
    char value[16];
    FILE *from = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (!from || mcap_reader_open(from, "fuzz", &reader, &err) != STATUS_OK) {
        assert(!from || err.text[0] != '\0');
        return 0;
    }
    size_t bytes = 0;
    enum status status = STATUS_OK;
    while ((status = mcap_reader_next(reader, &m, &err)) == STATUS_OK) {
        assert(m.topic && m.encoding && m.schema_name && m.schema_encoding);
        assert(m.schema_bytes <= size && m.metadata_bytes <= size);
        bytes += m.bytes;
        (void)mcap_metadata(&m, "qos", value, sizeof value);
        assert(bytes <= size);
    }
    assert(status == STATUS_E_EMPTY || err.text[0] != '\0');
    mcap_reader_close(reader);
    return 0;
}
