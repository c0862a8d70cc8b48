/* src/version.h – the version of all programs and of the library; the Makefile reads it here. */
#ifndef SRC_VERSION_H
#define SRC_VERSION_H

#define EK_VERSION "0.1.0"

#endif
