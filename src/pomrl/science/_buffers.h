/* What the extension modules share: checks of the buffers and the sizes that they are called with, the name of their
 * source, and the instruction to write a function for several processors.
 *
 * The faces in Python give arrays the required form. Here it is checked again, so that no argument makes a
 * module read or write other memory.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* The loader would choose among clones before the address sanitizer is ready. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

#define INLINE static inline __attribute__((always_inline))

/* The requirements of a buffer: contiguous in C's order, with `count` native numbers of `size` bytes in one of the formats. */
typedef struct {
    const char *name;
    const char *formats;
    Py_ssize_t size;
    int writable;
    Py_ssize_t count;
} BufferSpec;

enum { ANY_COUNT = -1 };

/* a b, or if that is too large the largest number, which no buffer has as many items as. */
static Py_ssize_t times(Py_ssize_t a, Py_ssize_t b) {
    Py_ssize_t product;
    return __builtin_mul_overflow(a, b, &product) ? PY_SSIZE_T_MAX : product;
}

static Py_ssize_t length(const Py_buffer *view) { return view->len / view->itemsize; }

/* Returns whether a buffer meets its requirements; raises ValueError otherwise. */
static int is_valid(const Py_buffer *view, const BufferSpec *spec) {
    const char *format = view->format ? view->format : "B";
    if (strlen(format) != 1 || !strchr(spec->formats, format[0]) || view->itemsize != spec->size)
        PyErr_Format(PyExc_ValueError, "%s must have items of the format %s, got %s", spec->name, spec->formats,
                     format);
    else if ((uintptr_t)view->buf % (uintptr_t)spec->size)
        PyErr_Format(PyExc_ValueError, "%s must be aligned", spec->name);
    else if (spec->count != ANY_COUNT && length(view) != spec->count)
        PyErr_Format(PyExc_ValueError, "%s must have %zd items, got %zd", spec->name, spec->count, length(view));
    else
        return 1;
    return 0;
}

static void release(Py_buffer *views, int count) {
    for (int i = 0; i < count; i++) PyBuffer_Release(views + i);
}

/* Takes the buffers of all objects or of none; returns whether all are valid. */
static int take(PyObject *const *objects, const BufferSpec *specs, Py_buffer *views, int count) {
    for (int i = 0; i < count; i++) {
        const int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (specs[i].writable ? PyBUF_WRITABLE : 0);
        const int taken = !PyObject_GetBuffer(objects[i], views + i, flags);
        if (!taken || !is_valid(views + i, specs + i)) {
            release(views, i + taken);
            return 0;
        }
    }
    return 1;
}

/* Returns whether a size is within limits, and raises ValueError if it is not. */
static int is_within(const char *name, Py_ssize_t size, Py_ssize_t least, Py_ssize_t most) {
    if (least <= size && size <= most) return 1;
    PyErr_Format(PyExc_ValueError, "%s must be between %zd and %zd, got %zd", name, least, most, size);
    return 0;
}

/* The digest of the source as it was built (setup.py), so that a built module is not used for another source. */
static int add_digest(PyObject *module) { return PyModule_AddStringConstant(module, "SOURCE_DIGEST", SOURCE_DIGEST); }
