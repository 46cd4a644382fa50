#ifndef IMGFLOW_CCRYPTO_SHIM_H
#define IMGFLOW_CCRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>

#endif
