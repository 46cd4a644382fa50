#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// Each function that is called, with its type.
#define FUNCTIONS(X) \
  X(CURLcode, curl_global_init, (long)) \
  X(CURL *, curl_easy_init, (void)) \
  X(CURLcode, curl_easy_setopt, (CURL *, CURLoption, ...)) \
  X(CURLcode, curl_easy_getinfo, (CURL *, CURLINFO, ...)) \
  X(CURLcode, curl_easy_pause, (CURL *, int)) \
  X(void, curl_easy_cleanup, (CURL *)) \
  X(CURLM *, curl_multi_init, (void)) \
  X(CURLMcode, curl_multi_setopt, (CURLM *, CURLMoption, ...)) \
  X(CURLMcode, curl_multi_add_handle, (CURLM *, CURL *)) \
  X(CURLMcode, curl_multi_remove_handle, (CURLM *, CURL *)) \
  X(CURLMcode, curl_multi_perform, (CURLM *, int *)) \
  X(CURLMcode, curl_multi_poll, (CURLM *, struct curl_waitfd *, unsigned int, int, int *)) \
  X(CURLMcode, curl_multi_wakeup, (CURLM *)) \
  X(CURLMsg *, curl_multi_info_read, (CURLM *, int *)) \
  X(CURLMcode, curl_multi_cleanup, (CURLM *)) \
  X(CURLSH *, curl_share_init, (void)) \
  X(CURLSHcode, curl_share_setopt, (CURLSH *, CURLSHoption, ...)) \
  X(CURLSHcode, curl_share_cleanup, (CURLSH *)) \
  X(struct curl_slist *, curl_slist_append, (struct curl_slist *, const char *)) \
  X(void, curl_slist_free_all, (struct curl_slist *)) \
  X(CURLU *, curl_url, (void)) \
  X(CURLUcode, curl_url_set, (CURLU *, CURLUPart, const char *, unsigned int)) \
  X(CURLUcode, curl_url_get, (CURLU *, CURLUPart, char **, unsigned int)) \
  X(const char *, curl_url_strerror, (CURLUcode)) \
  X(void, curl_url_cleanup, (CURLU *)) \
  X(time_t, curl_getdate, (const char *, const time_t *)) \
  X(curl_version_info_data *, curl_version_info, (CURLversion)) \
  X(void, curl_free, (void *))

static struct {
#define MEMBER(result, name, arguments) result(*name) arguments;
  FUNCTIONS(MEMBER)
#undef MEMBER
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;

// What the system's loader does with a program that lacks a library, in its words and with its exit code: there is
// nothing that such a program could do instead.
static void give_up(void) {
  fprintf(stderr, "imgflow: error while loading shared libraries: %s (install Debian's package libcurl4)\n", dlerror());
  _exit(127);
}

static void load(void) {
  void *handle = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
  if (!handle) give_up();
#define LOOK_UP(result, name, arguments) \
  library.name = (result(*) arguments)dlsym(handle, #name); \
  if (!library.name) give_up();
  FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

#define LOADED(name) (pthread_once(&once, load), library.name)

CURLcode curl_global_init(long flags) { return LOADED(curl_global_init)(flags); }

CURL *curl_easy_init(void) { return LOADED(curl_easy_init)(); }
CURLcode curl_easy_pause(CURL *handle, int mask) { return LOADED(curl_easy_pause)(handle, mask); }
void curl_easy_cleanup(CURL *handle) { LOADED(curl_easy_cleanup)(handle); }

CURLM *curl_multi_init(void) { return LOADED(curl_multi_init)(); }
CURLMcode curl_multi_add_handle(CURLM *multi, CURL *handle) { return LOADED(curl_multi_add_handle)(multi, handle); }
CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *handle) {
  return LOADED(curl_multi_remove_handle)(multi, handle);
}
CURLMcode curl_multi_perform(CURLM *multi, int *running) { return LOADED(curl_multi_perform)(multi, running); }
CURLMcode curl_multi_poll(CURLM *multi, struct curl_waitfd *others, unsigned int count, int milliseconds, int *ready) {
  return LOADED(curl_multi_poll)(multi, others, count, milliseconds, ready);
}
CURLMcode curl_multi_wakeup(CURLM *multi) { return LOADED(curl_multi_wakeup)(multi); }
CURLMsg *curl_multi_info_read(CURLM *multi, int *left) { return LOADED(curl_multi_info_read)(multi, left); }
CURLMcode curl_multi_cleanup(CURLM *multi) { return LOADED(curl_multi_cleanup)(multi); }

CURLSH *curl_share_init(void) { return LOADED(curl_share_init)(); }
CURLSHcode curl_share_cleanup(CURLSH *share) { return LOADED(curl_share_cleanup)(share); }

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text) {
  return LOADED(curl_slist_append)(list, text);
}
void curl_slist_free_all(struct curl_slist *list) { LOADED(curl_slist_free_all)(list); }

CURLU *curl_url(void) { return LOADED(curl_url)(); }
CURLUcode curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags) {
  return LOADED(curl_url_set)(url, part, text, flags);
}
CURLUcode imgflow_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags) {
  return LOADED(curl_url_get)(url, part, text, flags);
}
const char *curl_url_strerror(CURLUcode code) { return LOADED(curl_url_strerror)(code); }
void curl_url_cleanup(CURLU *url) { LOADED(curl_url_cleanup)(url); }

time_t curl_getdate(const char *text, const time_t *unused) { return LOADED(curl_getdate)(text, unused); }
void curl_free(void *bytes) { LOADED(curl_free)(bytes); }

CURLcode imgflow_set_long(CURL *handle, CURLoption option, long value) {
  return LOADED(curl_easy_setopt)(handle, option, value);
}

CURLcode imgflow_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
  return LOADED(curl_easy_setopt)(handle, option, value);
}

CURLcode imgflow_set_text(CURL *handle, CURLoption option, const char *value) {
  return LOADED(curl_easy_setopt)(handle, option, value);
}

CURLcode imgflow_set_pointer(CURL *handle, CURLoption option, void *value) {
  return LOADED(curl_easy_setopt)(handle, option, value);
}

CURLcode imgflow_set_bytes_callback(CURL *handle, CURLoption option,
                                    size_t (*callback)(char *, size_t, size_t, void *)) {
  return LOADED(curl_easy_setopt)(handle, option, callback);
}

CURLcode imgflow_set_socket_callback(CURL *handle, curl_opensocket_callback callback) {
  return LOADED(curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}

CURLcode imgflow_set_request_callback(CURL *handle, curl_prereq_callback callback) {
  return LOADED(curl_easy_setopt)(handle, CURLOPT_PREREQFUNCTION, callback);
}

CURLcode imgflow_get_long(CURL *handle, CURLINFO info, long *value) {
  return LOADED(curl_easy_getinfo)(handle, info, value);
}

CURLcode imgflow_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return LOADED(curl_easy_getinfo)(handle, info, value);
}

CURLcode imgflow_get_text(CURL *handle, CURLINFO info, const char **value) {
  return LOADED(curl_easy_getinfo)(handle, info, value);
}

CURLcode imgflow_get_pointer(CURL *handle, CURLINFO info, void **value) {
  return LOADED(curl_easy_getinfo)(handle, info, value);
}

CURLMcode imgflow_set_multi_long(CURLM *handle, CURLMoption option, long value) {
  return LOADED(curl_multi_setopt)(handle, option, value);
}

CURLSHcode imgflow_share(CURLSH *share, curl_lock_data data) {
  return LOADED(curl_share_setopt)(share, CURLSHOPT_SHARE, data);
}

const char *imgflow_usual_trust(void) {
  const curl_version_info_data *info = LOADED(curl_version_info)(CURLVERSION_NOW);
  return info->age >= CURLVERSION_SEVENTH ? info->cainfo : NULL;
}
