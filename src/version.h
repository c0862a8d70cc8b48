/* src/version.h – the version of all programs and of the library; the Makefile reads it here. */
#pragma once

#define EK_VERSION "0.1.0"
