/**
 * What of the language and its library there is: exceptions, std::stop_token (C++20) and
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

/** 1 where there are exceptions; what throws is declared only there. */
#if defined(__cpp_exceptions)
#define MORTISE_HAS_EXCEPTIONS 1
#else
#define MORTISE_HAS_EXCEPTIONS 0
#endif

/** 1 where a std::stop_token can end a wait. */
#if defined(__cpp_lib_jthread)
#define MORTISE_HAS_STOP_TOKEN 1
#else
#define MORTISE_HAS_STOP_TOKEN 0
#endif

/** 1 where mortise::result is std::expected. */
#if defined(__cpp_lib_expected)
#define MORTISE_HAS_EXPECTED 1
#else
#define MORTISE_HAS_EXPECTED 0
#endif

/*
 * Types differ with the language, so their full names do: objects of a program that were compiled
 * for different standards never take each other's functions for their own. Nor do these names meet
 * those of the library's own C++, which a static library has inside.
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
