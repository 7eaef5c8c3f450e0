/* Definitions shared by the extension modules: checks of buffers and sizes, the digest of the source, and the
 * compilation of a function for several processors.
 *
 * The Python wrappers convert arrays to the required form. It is checked here again, so that no argument can make a
 * module access memory outside its buffers.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* Not with the address sanitizer: the loader selects a clone before the sanitizer is initialised. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

#define INLINE static inline __attribute__((always_inline))

/* The requirements of a C-contiguous buffer: `count` native numbers of `size` bytes, in one of the `struct` formats. */
typedef struct {
    const char *name;
    const char *formats;
    Py_ssize_t size;
    int writable;
    Py_ssize_t count;
} BufferSpec;

enum { ANY_COUNT = -1 };

/* Multiply two sizes. On overflow, return the largest size, which no buffer can have. */
static Py_ssize_t times(Py_ssize_t a, Py_ssize_t b) {
    Py_ssize_t product;
    return __builtin_mul_overflow(a, b, &product) ? PY_SSIZE_T_MAX : product;
}

static Py_ssize_t length(const Py_buffer *view) { return view->len / view->itemsize; }

/* Check the requirements of a buffer. Return 1 if it meets them; otherwise set a ValueError and return 0. */
static int is_valid(const Py_buffer *view, const BufferSpec *spec) {
    const char *format = view->format ? view->format : "B";
    if (strlen(format) != 1 || !strchr(spec->formats, format[0]) || view->itemsize != spec->size)
        PyErr_Format(PyExc_ValueError, "%s must have items of a format in '%s', got '%s'", spec->name, spec->formats,
                     format);
    else if ((uintptr_t)view->buf % (uintptr_t)spec->size)
        PyErr_Format(PyExc_ValueError, "%s must be aligned to %zd bytes", spec->name, spec->size);
    else if (spec->count != ANY_COUNT && length(view) != spec->count)
        PyErr_Format(PyExc_ValueError, "%s must have %zd items, got %zd", spec->name, spec->count, length(view));
    else
        return 1;
    return 0;
}

static void release(Py_buffer *views, int count) {
    for (int i = 0; i < count; i++) PyBuffer_Release(views + i);
}

/* Acquire the buffers of all objects. If any is invalid, release all, set an error and return 0; otherwise return 1. */
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

/* Check the limits of a size. Return 1 if it is within them; otherwise set a ValueError and return 0. */
static int is_within(const char *name, Py_ssize_t size, Py_ssize_t least, Py_ssize_t most) {
    if (least <= size && size <= most) return 1;
    PyErr_Format(PyExc_ValueError, "%s must be between %zd and %zd, got %zd", name, least, most, size);
    return 0;
}

/* Add the digest of the source at the build (see setup.py). A module built from another source is not used. */
static int add_digest(PyObject *module) { return PyModule_AddStringConstant(module, "SOURCE_DIGEST", SOURCE_DIGEST); }
