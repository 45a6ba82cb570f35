// SPDX-License-Identifier: Apache-2.0
/// @file
/// A page of Markdown as one HTML file that needs no others.
#ifndef CAROM_CLI_COMPARE_HTML_H
#define CAROM_CLI_COMPARE_HTML_H

#include <stdio.h>

#include "carom/base.h"

/// Writes the Markdown of a file as HTML. What is understood is what our pages have: headings, paragraphs, tables, lists, fenced code, and
/// in a line code, emphasis, links, pictures and escapes.
/// @param folder  the pictures' folder: they become part of the page
/// @param first   line of the result
/// @return CAROM_IO_FAILED when a file cannot be read; what cannot be written is found by the caller
carom_status cli_html_from_markdown(const char *path, const char *folder, const char *first, FILE *html, carom_error *error);

#endif
