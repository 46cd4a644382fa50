#ifndef IMGFLOW_CARCHIVE_SHIM_H
#define IMGFLOW_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

// The types of members are macros with a cast, which Swift cannot see.
static const unsigned imgflow_archive_file = AE_IFREG;
static const unsigned imgflow_archive_folder = AE_IFDIR;
static const unsigned imgflow_archive_link = AE_IFLNK;

#endif
