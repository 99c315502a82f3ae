/* web/resource/page.h - the files of the dashboard, compiled in by cmake/page_table.cmake:
 * those of web/page/ and dygraphs, plain and compressed.
 */
#ifndef WEB_RESOURCE_PAGE_H
#define WEB_RESOURCE_PAGE_H

#include <stddef.h>

struct page_file {
    const char *name; /* in /page/ */
    const char *media_type;
    const unsigned char *bytes, *gzip; /* [size], [gzip_size] */
    size_t size, gzip_size;
    const char *etag, *gzip_etag; /* with their quotes */
};

extern const struct page_file page_files[];
extern const size_t page_file_count;

extern const unsigned char openapi_json[]; /* [openapi_json_bytes] web/openapi.yaml as JSON,
                                            * made at build time by cmake/yaml_json.c and embed.cmake */
extern const size_t openapi_json_bytes;

/* NULL: no file of this name. */
const struct page_file *page_find(const char *name);

#endif
