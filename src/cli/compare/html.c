// SPDX-License-Identifier: Apache-2.0
// Markdown to HTML, line by line: what our own pages are made of, and no more.
#define _GNU_SOURCE  // getline
#include "cli/compare/html.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_internal.h"

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "h1,h2,h3{line-height:1.2;margin:1.6em 0 .5em}h3{font-size:1rem}"
    "table{border-collapse:collapse;margin:1em 0;font-size:.85rem;display:block;overflow-x:auto}"
    "td,th{border-bottom:1px solid #ccc;padding:.2em .6em;text-align:left;vertical-align:top}td.n,th.n{text-align:right;white-space:nowrap}"
    "code,pre{font-family:ui-monospace,monospace;font-size:.9em;background:#f3f3f3}code{padding:0 .2em}pre{padding:.8em;overflow-x:auto}"
    "img{max-width:46rem;width:100%;height:auto;display:block}a{color:#0b57a4}"
    // The mechanism, a picture among the first paragraphs, stands beside the sentences where there is room.
    "@media(min-width:56rem){p:nth-of-type(-n+3)>img{float:right;width:44%;margin:0 0 1rem 1.5rem}h2:nth-of-type(n+2){clear:both}}";

// The document under way.
typedef struct page {
    FILE *file;
    const char *folder;
    const char *open;  // the element that is open: "p", "ul", "table", "pre"; "" for none
    unsigned right;    // bit k: column k of the table is aligned to the right
    bool head;         // the next row is the table's head
    carom_status status;
    carom_error *error;
} page;

static void put_character(FILE *file, char c) {
    switch (c) {
    case '&': fputs("&amp;", file); break;
    case '<': fputs("&lt;", file); break;
    case '>': fputs("&gt;", file); break;
    case '"': fputs("&quot;", file); break;
    default: fputc(c, file);
    }
}

// A picture's bytes in base 64 (RFC 4648, section 4).
static void put_picture(page *p, const char *name) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *path = cli_join_path(p->folder, name);
    FILE *picture = path ? fopen(path, "rb") : NULL;
    if (!picture)
        p->status = path ? carom_fail_system(p->error, errno, "%s: the file cannot be read", path) : carom_fail_memory(p->error, name);
    free(path);
    if (!picture) return;
    unsigned char three[3];
    fputs("data:image/png;base64,", p->file);
    for (size_t count; (count = fread(three, 1, 3, picture)) > 0;) {
        const unsigned bits = (unsigned)three[0] << 16 | (count > 1 ? (unsigned)three[1] << 8 : 0) | (count > 2 ? three[2] : 0u);
        for (size_t k = 0; k < 4; k++) fputc(k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=', p->file);
    }
    fclose(picture);
}

// The "](" of the link whose text begins here; NULL where it is none.
static const char *link_middle(const char *text, const char *end) {
    for (; text + 1 < end; text++) {
        if (*text == '\\')
            text++;
        else if (*text == ']')
            return text[1] == '(' && memchr(text, ')', (size_t)(end - text)) ? text : NULL;
    }
    return NULL;
}

// The text of a line up to an end: code, emphasis, links, pictures and escapes.
static void put_inline(page *p, const char *text, const char *end) {
    bool emphasis = false;
    for (const char *c = text; c < end; c++) {
        const char *middle = *c == '[' || (*c == '!' && c[1] == '[') ? link_middle(c, end) : NULL;
        const char *code = *c == '`' ? memchr(c + 1, '`', (size_t)(end - c - 1)) : NULL;
        if (*c == '\\' && c + 1 < end && ispunct((unsigned char)c[1])) {
            put_character(p->file, *++c);
        } else if (code) {
            fputs("<code>", p->file);
            for (const char *k = c + 1; k < code; k++) put_character(p->file, *k);
            fputs("</code>", p->file);
            c = code;
        } else if (*c == '*') {
            fputs(emphasis ? "</em>" : "<em>", p->file);
            emphasis = !emphasis;
        } else if (middle) {
            // [TEXT](TARGET), and ![TEXT](PICTURE)
            const char *close = strchr(middle, ')');
            char *target = strndup(middle + 2, (size_t)(close - middle - 2));
            if (!target) p->status = carom_fail_memory(p->error, "page");
            if (target && *c == '!') {
                fputs("<img src=\"", p->file);
                put_picture(p, target);
                fputs("\" alt=\"", p->file);
                put_inline(p, c + 2, middle);
                fputs("\">", p->file);
            } else if (target) {
                fputs("<a href=\"", p->file);
                for (const char *k = target; *k; k++) put_character(p->file, *k);
                fputs("\">", p->file);
                put_inline(p, c + 1, middle);
                fputs("</a>", p->file);
            }
            free(target);
            c = close;
        } else {
            put_character(p->file, *c);
        }
    }
    if (emphasis) fputs("</em>", p->file);
}

// Closes what is open unless it is this, and opens it.
static void enter(page *p, const char *element) {
    if (!strcmp(p->open, element)) return;
    if (*p->open) fprintf(p->file, "</%s>\n", p->open);
    if (*element) fprintf(p->file, "<%s>", element);
    p->open = element;
}

// The end of the next cell of a row: a bar that is not escaped.
static const char *cell_end(const char *cell) {
    while (*cell && *cell != '|') cell += *cell == '\\' && cell[1] ? 2 : 1;
    return cell;
}

static void put_row(page *p, const char *line) {
    int column = 0;
    fputs("<tr>", p->file);
    for (const char *cell = line + 1; *cell; column++) {
        const char *end = cell_end(cell), *last = end;
        while (cell < last && *cell == ' ') cell++;
        while (last > cell && last[-1] == ' ') last--;
        const bool right = column < 32 && p->right >> column & 1;
        fprintf(p->file, "<%s%s>", p->head ? "th" : "td", right ? " class=\"n\"" : "");
        put_inline(p, cell, last);
        fprintf(p->file, "</%s>", p->head ? "th" : "td");
        cell = *end ? end + 1 : end;
    }
    fputs("</tr>\n", p->file);
    p->head = false;
}

// One line without its newline, and the one after it, by which a table's head is known.
static void put_line(page *p, const char *line, const char *next) {
    const size_t length = strlen(line);
    if (!strncmp(line, "```", 3)) {
        enter(p, strcmp(p->open, "pre") ? "pre" : "");
    } else if (!strcmp(p->open, "pre")) {
        for (const char *c = line; *c; c++) put_character(p->file, *c);
        fputc('\n', p->file);
    } else if (*line == '#') {
        const size_t level = strspn(line, "#");
        enter(p, "");
        fprintf(p->file, "<h%zu>", level);
        put_inline(p, line + level + 1, line + length);
        fprintf(p->file, "</h%zu>\n", level);
    } else if (*line == '|') {
        if (strcmp(p->open, "table")) {
            enter(p, "table");
            // The line under the head says how columns are aligned: "---:" to the right.
            p->head = true;
            p->right = 0;
            int column = 0;
            for (const char *cell = next; *cell; cell++) {
                if (*cell == '|') column++;
                if (*cell == ':' && column > 0 && column <= 32) p->right |= 1u << (column - 1);
            }
        }
        if (strncmp(line, "|---", 4)) put_row(p, line);
    } else if (!strncmp(line, "- ", 2)) {
        enter(p, "ul");
        fputs("<li>", p->file);
        put_inline(p, line + 2, line + length);
        fputs("</li>\n", p->file);
    } else if (!*line) {
        enter(p, "");
    } else if (strncmp(line, "<!--", 4)) {
        enter(p, "p");
        put_inline(p, line, line + length);
        fputc('\n', p->file);
    }
}

carom_status cli_html_from_markdown(const char *path, const char *folder, const char *first, FILE *html, carom_error *error) {
    FILE *markdown = fopen(path, "r");
    if (!markdown) return carom_fail_system(error, errno, "%s: the file cannot be read", path);
    page p = {.file = html, .folder = folder, .open = "", .error = error};
    char *lines[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    fprintf(html,
            "%s<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">",
            first);
    // The line under way and the next one change places; the first heading is the title.
    bool more = getline(&lines[0], &sizes[0], markdown) > 0, titled = false;
    for (int k = 0; more && !p.status; k = !k) {
        more = getline(&lines[!k], &sizes[!k], markdown) > 0;
        lines[k][strcspn(lines[k], "\n")] = '\0';
        if (!titled && *lines[k] == '#') {
            fputs("<title>", html);
            put_inline(&p, lines[k] + 2, lines[k] + strlen(lines[k]));
            fprintf(html, "</title><style>%s</style></head><body>\n", style);
            titled = true;
        }
        put_line(&p, lines[k], more ? lines[!k] : "");
    }
    enter(&p, "");
    fputs("</body></html>\n", html);
    free(lines[0]);
    free(lines[1]);
    fclose(markdown);
    return p.status;
}
