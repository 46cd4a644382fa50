#ifndef IMGFLOW_CYAML_SHIM_H
#define IMGFLOW_CYAML_SHIM_H

#include <yaml.h>

#endif
