#ifndef IMGFLOW_CZLIB_SHIM_H
#define IMGFLOW_CZLIB_SHIM_H

#include <zlib.h>

#endif
