#ifndef IMGFLOW_CZSTD_SHIM_H
#define IMGFLOW_CZSTD_SHIM_H

#include <zstd.h>

#endif
