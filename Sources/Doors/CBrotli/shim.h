#ifndef IMGFLOW_CBROTLI_SHIM_H
#define IMGFLOW_CBROTLI_SHIM_H

#include <brotli/decode.h>

#endif
