/**
 * The features of the language and its library: exceptions, std::stop_token (C++20) and
 * std::expected (C++23). Part of mortise/mortise.hpp.
 */
#ifndef MORTISE_LANGUAGE_HPP
#define MORTISE_LANGUAGE_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "mortise/mortise.hpp needs C++17 or later"
#endif

#if __has_include(<version>)
#include <version>
#endif

/** 1 with exceptions. Throwing functions are declared only then. */
#if defined(__cpp_exceptions)
#define MORTISE_HAS_EXCEPTIONS 1
#else
#define MORTISE_HAS_EXCEPTIONS 0
#endif

/** 1 if a std::stop_token can end a wait. */
#if defined(__cpp_lib_jthread)
#define MORTISE_HAS_STOP_TOKEN 1
#else
#define MORTISE_HAS_STOP_TOKEN 0
#endif

/** 1 if mortise::result is std::expected. */
#if defined(__cpp_lib_expected)
#define MORTISE_HAS_EXPECTED 1
#else
#define MORTISE_HAS_EXPECTED 0
#endif

/*
 * Types differ with the language standard, so their full names also differ. Objects of a program
 * that are compiled for different standards therefore never share each other's functions. These
 * names also differ from those of the C++ code inside a static library.
 */
#if MORTISE_HAS_EXPECTED && MORTISE_HAS_STOP_TOKEN
#define MORTISE_CXX_NAMESPACE cxx23
#elif MORTISE_HAS_STOP_TOKEN
#define MORTISE_CXX_NAMESPACE cxx20
#elif MORTISE_HAS_EXPECTED
#define MORTISE_CXX_NAMESPACE cxx23_without_stop_token
#else
#define MORTISE_CXX_NAMESPACE cxx17
#endif

#endif  // MORTISE_LANGUAGE_HPP
