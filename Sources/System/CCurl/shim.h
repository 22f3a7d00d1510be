#pragma once
#include <curl/curl.h>
#include <sys/socket.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift doesn't import. There is one
// function per value type, so that the compiler checks it (passing a long where libcurl reads a
// curl_off_t is undefined behavior).

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION, which have the same type.
static inline CURLcode ccurl_set_receiver(CURL *easy, CURLoption option,
                                          curl_write_callback receiver) {
    return curl_easy_setopt(easy, option, receiver);
}

static inline CURLcode ccurl_set_socket_opener(CURL *easy, curl_opensocket_callback opener) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, opener);
}

static inline CURLcode ccurl_set_socket_closer(CURL *easy, curl_closesocket_callback closer) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, closer);
}

static inline CURLcode ccurl_set_before_request(CURL *easy, curl_prereq_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_list(CURL *easy, CURLINFO info, struct curl_slist **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLSHcode ccurl_share_cookies(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
}

// Macros with casts, which Swift doesn't import.
static const long ccurl_auth_basic = (long)CURLAUTH_BASIC;
static const long ccurl_auth_digest = (long)CURLAUTH_DIGEST;

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// The same as recv(2) under another name.
static inline ssize_t ccurl_receive(int socket, void *bytes, size_t count, int flags) {
    return recvfrom(socket, bytes, count, flags, NULL, NULL);
}

// Implemented by TurnBudget in Swift.
ssize_t ccurl_receive_within_turn(int socket, void *bytes, size_t count, int flags);

// Replaces recv(2) for this program and its libraries. Swift functions can't do so, since their
// symbols are protected and invisible to libraries.
__attribute__((weak, visibility("default"))) ssize_t recv(int socket, void *bytes, size_t count,
                                                          int flags) {
    return ccurl_receive_within_turn(socket, bytes, count, flags);
}
