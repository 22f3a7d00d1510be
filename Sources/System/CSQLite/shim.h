#pragma once
#include <sqlite3.h>

/* The two destructor constants are casts of integers to function pointers, which Swift doesn't
   import. STATIC: the bytes stay valid until the binding is cleared. TRANSIENT: SQLite copies
   them. */
static inline int csqlite_bind_blob_static(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length
) {
    return sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_STATIC);
}

static inline int csqlite_bind_blob_transient(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length
) {
    return sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_TRANSIENT);
}

/* A null pointer would bind NULL; Swift passes one for a text without bytes. */
static inline int csqlite_bind_text_transient(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 length
) {
    return sqlite3_bind_text64(
        statement, index, text ? text : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}
