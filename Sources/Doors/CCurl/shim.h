#ifndef IMGFLOW_CCURL_SHIM_H
#define IMGFLOW_CCURL_SHIM_H

#include <curl/curl.h>

#endif
