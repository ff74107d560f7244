// PACELINE_SIMD before a function whose loops vectorise by themselves: the compiler makes a clone
// of it per instruction set, and the program takes at its start the widest that the machine has, so
// that one binary serves every x86-64. The clones round alike: no fused multiply-add (see
// src/core/CMakeLists.txt).
#pragma once

// The choice runs before a sanitizer has set itself up, which would end the program there.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define PACELINE_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PACELINE_SIMD
#endif
