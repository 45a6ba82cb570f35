// SPDX-License-Identifier: Apache-2.0
// Running gnuplot. Script and data go through its standard input, the picture comes through its standard output: no shell, and no file
// name that gnuplot could take for a command.
#include "io/plot/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carom/utf8.h"
#include "io/child.h"

// Dots of a PNG, and units of an SVG, on paper and for the screen [1/inch].
#define PNG_DENSITY    300.0
#define SVG_DENSITY    96.0
#define SCREEN_DENSITY 150.0
#define INCH           25.4

// The last chunk of a PNG, and the last tags of SVG and PDF.
static const char png_end[] = "IEND\xae\x42\x60\x82", svg_end[] = "</svg>\n\n", pdf_end[] = "%%EOF\n";

static const carom_gnuplot_format formats[] = {
    {CAROM_GNUPLOT_PNG, ".png", {"a PNG picture", "\x89PNG\r\n\x1a\n", false, ".png"}, png_end, 8, true},
    {CAROM_GNUPLOT_SVG, ".svg", {"an SVG picture that begins with <?xml", "<?xml", false, ".svg"}, svg_end, 6, false},
    {CAROM_GNUPLOT_PDF, ".pdf", {"a PDF file", "%PDF-", false, ".pdf"}, pdf_end, 5, true},
};

// ------------------------------------------------------------------------------------------------------ formats and sizes

carom_status carom_gnuplot_find(const char *path, const carom_gnuplot_format **format, carom_error *error) {
    *format = NULL;
    if (!*path) return carom_fail(error, CAROM_BAD_INPUT, "an empty text cannot name a picture");
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof formats / sizeof *formats; i++)
        if (!strcasecmp(ending, formats[i].ending)) *format = &formats[i];
    return *format ? CAROM_OK : carom_fail(error, CAROM_BAD_INPUT, "%s: a picture's name must end in .png, .svg or .pdf", path);
}

carom_status carom_plot_parse_size(const char *text, carom_plot_size *size, carom_error *error) {
    static const struct {
        const char *name;
        carom_plot_size size;
    } sizes[] = {{"column", {84, 63}}, {"page", {174, 120}}, {"slide", {254, 143}}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!strcmp(text, sizes[i].name)) {
            *size = sizes[i].size;
            return CAROM_OK;
        }
    // Two numbers with an x between them.
    const char *cross = strchr(text, 'x');
    char width[32] = "";
    if (cross && (size_t)(cross - text) < sizeof width) memcpy(width, text, (size_t)(cross - text));
    if (cross && carom_parse_number(width, &size->width) && carom_parse_number(cross + 1, &size->height) &&
        size->width >= CAROM_PLOT_LEAST_SIZE && size->height >= CAROM_PLOT_LEAST_SIZE && size->width <= CAROM_PLOT_MOST_SIZE &&
        size->height <= CAROM_PLOT_MOST_SIZE)
        return CAROM_OK;
    *size = (carom_plot_size){0};
    return carom_fail(error, CAROM_BAD_INPUT,
                      "'%.60s' is no size of a picture: column, page, slide, or WIDTHxHEIGHT in millimetres, each from %d to %d", text,
                      CAROM_PLOT_LEAST_SIZE, CAROM_PLOT_MOST_SIZE);
}

// Dots or units of a sheet [1/inch].
static double density_of(const carom_gnuplot_format *format, const carom_gnuplot_sheet *sheet) {
    return sheet->screen ? SCREEN_DENSITY : format->kind == CAROM_GNUPLOT_SVG ? SVG_DENSITY : PNG_DENSITY;
}

void carom_gnuplot_print_terminal(FILE *script, const carom_gnuplot_format *format, const carom_gnuplot_sheet *sheet) {
    // gnuplot takes a dot of a PNG for 1/96 inch of its fonts, a unit of an SVG for a point, and PDF at 3/4 of a point each. Its marks of
    // size 1 have 157.5 / 25.4 dots in PNGs. Rounded corners have no spikes where lines turn back.
    const double density = density_of(format, sheet), width = sheet->size.width, height = sheet->size.height;
    switch (format->kind) {
    case CAROM_GNUPLOT_PNG:
        fprintf(script, "set terminal pngcairo noenhanced rounded size %.0f,%.0f font 'Sans,%g' fontscale %g linewidth %g pointscale %g",
                width / INCH * density, height / INCH * density, sheet->font, density / 96, density / 144, density / 157.5);
        break;
    case CAROM_GNUPLOT_SVG:
        fprintf(script, "set terminal svg noenhanced rounded size %.0f,%.0f font 'Sans,%g' fontscale %g linewidth %g",
                width / INCH * density, height / INCH * density, sheet->font, density / 72, density / 144);
        break;
    case CAROM_GNUPLOT_PDF:
        fprintf(script, "set terminal pdfcairo noenhanced rounded size %gcm,%gcm font 'Sans,%g' fontscale 0.75 pointscale 0.461",
                width / 10, height / 10, sheet->font);
        break;
    }
    fprintf(script, " background rgb '#%06x'\nset encoding utf8\n", sheet->dark ? (unsigned)CAROM_PLOT_DARK_PAPER : 0xffffffu);
}

double carom_gnuplot_mark_size(const carom_gnuplot_format *format, const carom_gnuplot_sheet *sheet) {
    // Marks of size 1 are 3/4 of the font's size in SVGs.
    return format->kind == CAROM_GNUPLOT_SVG ? density_of(format, sheet) / INCH / (0.75 * sheet->font) : 1;
}

// ---------------------------------------------------------------------------------------------------------------- texts

// Quotes inside a text are doubled: gnuplot runs what stands in backquotes within double quotes. Quotes at the very start are joined on,
// because gnuplot takes two of them for an empty text. Lines are joined, too.
void carom_gnuplot_print_text(FILE *script, const char *text, int columns, const carom_gnuplot_format *format) {
    for (; *text == '\''; text++) fputs("\"'\".", script);
    fputc('\'', script);
    int column = 0;
    while (*text) {
        unsigned long code;
        const int length = carom_utf8_decode(text, &code);
        // For a character that no font of the machine has, gnuplot paints black bars over the whole PNG. Every machine with gnuplot can
        // draw ASCII; Latin, Greek, Cyrillic; punctuation, indices, arrows and mathematics.
        const bool control = !carom_utf8_is_shown(code);
        const bool drawable = code < 0x7f || (code >= 0xa0 && code < 0x530) || (code >= 0x1e00 && code < 0x2300);
        // A line ends at a blank after which the next word does not fit.
        const bool breaks = columns && column && *text == ' ' && column + 1 + (int)strcspn(text + 1, " ") > columns;
        column = breaks ? 0 : column + 1;
        if (breaks)
            fputs("'.\"\\n\".'", script);
        else if (!length || (format->drawn_here && !drawable && !control))
            fputc('?', script);
        else if (control)
            fputc(' ', script);
        else
            fprintf(script, "%s%.*s", code == '\'' ? "'" : "", length, text);
        text += length ? length : 1;
    }
    fputc('\'', script);
}

// --------------------------------------------------------------------------------------------------------- running gnuplot

// Are these bytes at this place of the file?
static bool file_has(int descriptor, off_t offset, const char *bytes, size_t size) {
    // Longer than any beginning or end of a picture.
    char found[16];
    return offset >= 0 && pread(descriptor, found, size, offset) == (ssize_t)size && !memcmp(found, bytes, size);
}

// Runs `gnuplot -d` (without the settings of the user) on a script, and waits. The picture must be whole then.
static carom_status run_gnuplot(FILE *script, const carom_gnuplot_format *format, int output, const char *path, carom_error *error) {
    FILE *messages = tmpfile();
    if (!messages) return carom_fail_system(error, errno, "%s: no temporary file", path);
    int outcome;
    const bool started =
        carom_child_run((const char *const[]){"gnuplot", "-d", NULL}, (int[]){fileno(script), output, fileno(messages)}, &outcome);

    // gnuplot ends with 0 even when it could not write, and leaves an empty or a cut file. Up to three bytes may follow the end of a whole
    // one.
    struct stat about;
    bool whole = false;
    if (started && !fstat(output, &about) && file_has(output, 0, format->file.start, strlen(format->file.start)))
        for (int extra = 0; extra < 4 && !whole; extra++)
            whole = file_has(output, about.st_size - (off_t)format->end_size - extra, format->end, format->end_size);

    carom_status status = CAROM_OK;
    if (!started) {
        status = carom_fail(error, CAROM_UNSUPPORTED, "%s: pictures are drawn by gnuplot, which was not found: install gnuplot-nox", path);
    } else if (!whole) {
        char said[CAROM_MESSAGE_SIZE / 2];
        rewind(messages);
        const size_t size = fread(said, 1, sizeof said - 1, messages);
        said[size] = '\0';
        status = carom_fail(error, CAROM_IO_FAILED, "%s: gnuplot could not write the picture: %s", path,
                            size ? said : "it said nothing (disk full?)");
    }
    fclose(messages);
    return status;
}

// Writes how many dots a metre of a PNG has into its chunk pHYs, which gnuplot leaves out: programs take a picture without it for larger
// than it is. The chunk follows the first one, which is of fixed size. False where the file cannot be read or written.
static bool state_density(int descriptor, double density) {
    enum { FIRST = 33, CHUNK = 21, CHECKED = 13 };
    const unsigned long dots = (unsigned long)lround(density / INCH * 1000);
    unsigned char chunk[CHUNK] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    for (int i = 0; i < 4; i++) chunk[8 + i] = chunk[12 + i] = (unsigned char)(dots >> (24 - 8 * i));
    chunk[16] = 1;  // per metre
    // The checksum of type and content (RFC 2083, section 3.4).
    unsigned long sum = 0xffffffffu;
    for (int i = 4; i < 4 + CHECKED; i++) {
        sum ^= chunk[i];
        for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xedb88320u ^ (sum >> 1) : sum >> 1;
    }
    sum ^= 0xffffffffu;
    for (int i = 0; i < 4; i++) chunk[17 + i] = (unsigned char)(sum >> (24 - 8 * i));

    struct stat about;
    if (fstat(descriptor, &about)) return false;
    const size_t size = about.st_size > FIRST ? (size_t)about.st_size - FIRST : 0;
    char *rest = malloc(size + 1);
    const bool done = rest && pread(descriptor, rest, size, FIRST) == (ssize_t)size && pwrite(descriptor, chunk, CHUNK, FIRST) == CHUNK &&
                      pwrite(descriptor, rest, size, FIRST + CHUNK) == (ssize_t)size;
    free(rest);
    return done;
}

carom_status carom_gnuplot_draw(const char *path, const carom_gnuplot_format *format, const carom_gnuplot_sheet *sheet,
                                carom_text_printer *print, const void *content, bool keeps, carom_error *error) {
    carom_temporary temporary;
    int descriptor;
    carom_status status = carom_temporary_create(path, &format->file, &temporary, &descriptor, error);
    if (status) return status;
    FILE *script = tmpfile();
    if (!script) status = carom_fail_system(error, errno, "%s: no temporary file", path);
    if (!status) status = carom_text_print(script, "the temporary script of the picture", print, content, error);
    if (!status) rewind(script);
    if (!status) status = run_gnuplot(script, format, descriptor, path, error);
    if (!status && format->kind == CAROM_GNUPLOT_PNG && !state_density(descriptor, density_of(format, sheet)))
        status = carom_fail_system(error, errno, "%s: the file cannot be written", path);
    if (close(descriptor) && !status) status = carom_fail_system(error, errno, "%s: the file cannot be written", path);
    if (!status && keeps) status = carom_temporary_commit(&temporary, error);
    if (script) fclose(script);
    carom_temporary_discard(&temporary);
    return status;
}
