#ifndef IMGFLOW_CCURL_H
#define IMGFLOW_CCURL_H

// libcurl, loaded on first use: it brings twenty-five libraries along, and their loading takes as long as all else that
// happens before a run begins. The calls have their own names; CCurl.c passes them on. Beside them typed faces of
// those that are variadic, which Swift cannot see.

// Its checks of variadic calls are for programs that make them.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

CURLcode imgflow_set_long(CURL *handle, CURLoption option, long value);
CURLcode imgflow_set_offset(CURL *handle, CURLoption option, curl_off_t value);
CURLcode imgflow_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode imgflow_set_pointer(CURL *handle, CURLoption option, void *value);
CURLcode imgflow_set_bytes_callback(CURL *handle, CURLoption option,
                                    size_t (*callback)(char *, size_t, size_t, void *));
CURLcode imgflow_set_socket_callback(CURL *handle, curl_opensocket_callback callback);
CURLcode imgflow_set_request_callback(CURL *handle, curl_prereq_callback callback);
CURLcode imgflow_get_long(CURL *handle, CURLINFO info, long *value);
CURLcode imgflow_get_offset(CURL *handle, CURLINFO info, curl_off_t *value);
CURLcode imgflow_get_text(CURL *handle, CURLINFO info, const char **value);
CURLcode imgflow_get_pointer(CURL *handle, CURLINFO info, void **value);
CURLMcode imgflow_set_multi_long(CURLM *handle, CURLMoption option, long value);
CURLSHcode imgflow_share(CURLSH *share, curl_lock_data data);

// Declared in another way by each version of the library.
CURLUcode imgflow_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags);

// The file of certificates that libcurl was built to trust; NULL where it has none or is too old to tell.
const char *imgflow_usual_trust(void);

// What a finished transfer's message carries, out of its union.
static inline CURLcode imgflow_message_result(const CURLMsg *message) { return message->data.result; }

// Copies an address in network order and returns its length, 4 or 16; 0 for what is no IP address.
static inline size_t imgflow_address_bytes(const struct curl_sockaddr *address, unsigned char bytes[16]) {
  switch (address->family) {
  case AF_INET:
    memcpy(bytes, &((const struct sockaddr_in *)&address->addr)->sin_addr, 4);
    return 4;
  case AF_INET6:
    memcpy(bytes, &((const struct sockaddr_in6 *)&address->addr)->sin6_addr, 16);
    return 16;
  default: return 0;
  }
}

static inline curl_socket_t imgflow_open_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Connects to an address of 4 or 16 bytes and hangs up; returns 0 or the error, ETIMEDOUT where nothing comes in time.
static inline int imgflow_try_connect(const unsigned char *bytes, int count, int port, int milliseconds) {
  struct sockaddr_storage storage;
  memset(&storage, 0, sizeof storage);
  socklen_t length;
  if (count == 4) {
    struct sockaddr_in *address = (struct sockaddr_in *)&storage;
    address->sin_family = AF_INET;
    address->sin_port = htons((unsigned short)port);
    memcpy(&address->sin_addr, bytes, 4);
    length = sizeof *address;
  } else if (count == 16) {
    struct sockaddr_in6 *address = (struct sockaddr_in6 *)&storage;
    address->sin6_family = AF_INET6;
    address->sin6_port = htons((unsigned short)port);
    memcpy(&address->sin6_addr, bytes, 16);
    length = sizeof *address;
  } else {
    return EAFNOSUPPORT;
  }
  int descriptor = socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  int result = connect(descriptor, (struct sockaddr *)&storage, length) == 0 ? 0 : errno;
  if (result == EINPROGRESS) {
    struct pollfd waiting = {descriptor, POLLOUT, 0};
    int ready = poll(&waiting, 1, milliseconds);
    socklen_t size = sizeof result;
    if (ready <= 0 || getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &result, &size) != 0) result = ETIMEDOUT;
  }
  close(descriptor);
  return result;
}

#endif
