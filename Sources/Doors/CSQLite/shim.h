#ifndef IMGFLOW_CSQLITE_SHIM_H
#define IMGFLOW_CSQLITE_SHIM_H

#include <sqlite3.h>

#endif
