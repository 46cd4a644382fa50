#ifndef IMGFLOW_CSQLITE_SHIM_H
#define IMGFLOW_CSQLITE_SHIM_H

#include <sqlite3.h>

// The call is variadic, which Swift cannot see; it has an effect before the first connection only.
static inline int imgflow_sqlite_without_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

#endif
