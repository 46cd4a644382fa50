#include "CXML.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

// Layouts that libxml2.so.2 promises not to change.
struct node {
  void *private_;
  int type;
  const char *name;
};
struct node_set {
  int count;
  int capacity;
  struct node **nodes;
};
struct xpath_object {
  int type;
  struct node_set *nodes;
};

typedef int (*read_call)(void *, char *, int);
typedef int (*close_call)(void *);

static struct {
  void (*init_parser)(void);
  void *(*reader_for_io)(read_call, close_call, void *, const char *, const char *, int);
  int (*reader_read)(void *);
  int (*reader_node_type)(void *);
  int (*reader_is_empty)(void *);
  int (*reader_line)(void *);
  const char *(*reader_name)(void *);
  const char *(*reader_value)(void *);
  char *(*reader_attribute)(void *, const char *);
  void (*free_reader)(void *);
  void *(*html_read)(const char *, int, const char *, const char *, int);
  void (*free_doc)(void *);
  void *(*xpath_context)(void *);
  void (*xpath_free_context)(void *);
  struct xpath_object *(*xpath_eval)(const char *, void *);
  void (*xpath_free_object)(struct xpath_object *);
  char *(*get_prop)(struct node *, const char *);
  char *(*node_content)(struct node *);
  void (**free_text)(void *);
  void (*set_error)(void *, void (*)(void *, const char *, ...));
} library;

static int outcome = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void be_silent(void *context, const char *words, ...) {
  (void)context;
  (void)words;
}

static void load(void) {
  void *handle = dlopen("libxml2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!handle) handle = dlopen("libxml2.so.16", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return;
  const struct {
    const char *name;
    void *place;
  } calls[] = {
      {"xmlInitParser", &library.init_parser},
      {"xmlReaderForIO", &library.reader_for_io},
      {"xmlTextReaderRead", &library.reader_read},
      {"xmlTextReaderNodeType", &library.reader_node_type},
      {"xmlTextReaderIsEmptyElement", &library.reader_is_empty},
      {"xmlTextReaderGetParserLineNumber", &library.reader_line},
      {"xmlTextReaderConstLocalName", &library.reader_name},
      {"xmlTextReaderConstValue", &library.reader_value},
      {"xmlTextReaderGetAttribute", &library.reader_attribute},
      {"xmlFreeTextReader", &library.free_reader},
      {"htmlReadMemory", &library.html_read},
      {"xmlFreeDoc", &library.free_doc},
      {"xmlXPathNewContext", &library.xpath_context},
      {"xmlXPathFreeContext", &library.xpath_free_context},
      {"xmlXPathEvalExpression", &library.xpath_eval},
      {"xmlXPathFreeObject", &library.xpath_free_object},
      {"xmlGetProp", &library.get_prop},
      {"xmlNodeGetContent", &library.node_content},
      {"xmlFree", &library.free_text},
      {"xmlSetGenericErrorFunc", &library.set_error},
  };
  for (size_t number = 0; number < sizeof calls / sizeof *calls; number++) {
    void *call = dlsym(handle, calls[number].name);
    if (!call) return;
    *(void **)calls[number].place = call;
  }
  library.init_parser();
  outcome = 0;
}

int imgflow_xml_load(void) {
  pthread_once(&once, load);
  // The library keeps this for each thread.
  if (outcome == 0) library.set_error(NULL, be_silent);
  return outcome;
}

static int no_close(void *context) {
  (void)context;
  return 0;
}

void *imgflow_xml_open(int (*read)(void *, char *, int), void *context) {
  // No network, no words of its own, no CDATA nodes, short nodes; entities of a document type are not put in.
  const int options = 2048 | 32 | 64 | 16384 | 65536;
  if (imgflow_xml_load() != 0) return NULL;
  return library.reader_for_io(read, no_close, context, "", NULL, options);
}

int imgflow_xml_next(void *reader) { return library.reader_read(reader); }
int imgflow_xml_kind(void *reader) { return library.reader_node_type(reader); }
int imgflow_xml_is_empty(void *reader) { return library.reader_is_empty(reader) == 1; }
int imgflow_xml_line(void *reader) { return library.reader_line(reader); }
const char *imgflow_xml_name(void *reader) { return library.reader_name(reader); }
const char *imgflow_xml_text(void *reader) { return library.reader_value(reader); }
char *imgflow_xml_attribute(void *reader, const char *name) { return library.reader_attribute(reader, name); }
void imgflow_xml_give_back(char *text) {
  if (text) (*library.free_text)(text);
}
void imgflow_xml_close(void *reader) { library.free_reader(reader); }

void *imgflow_html_parse(const char *bytes, int count, const char *encoding) {
  // Recovering, no network, no words of its own.
  const int options = 1 | 2048 | 32 | 64;
  if (imgflow_xml_load() != 0) return NULL;
  return library.html_read(bytes, count, "", encoding, options);
}

void *imgflow_html_select(void *document, const char *expression) {
  if (imgflow_xml_load() != 0) return NULL;
  void *context = library.xpath_context(document);
  if (!context) return NULL;
  struct xpath_object *object = library.xpath_eval(expression, context);
  library.xpath_free_context(context);
  return object;
}

int imgflow_html_count(void *selection) {
  struct node_set *nodes = ((struct xpath_object *)selection)->nodes;
  return nodes ? nodes->count : 0;
}

static struct node *node_at(void *selection, int place) {
  return ((struct xpath_object *)selection)->nodes->nodes[place];
}

const char *imgflow_html_name(void *selection, int place) { return node_at(selection, place)->name; }
char *imgflow_html_attribute(void *selection, int place, const char *name) {
  return library.get_prop(node_at(selection, place), name);
}
char *imgflow_html_text(void *selection, int place) { return library.node_content(node_at(selection, place)); }
void imgflow_html_drop_selection(void *selection) { library.xpath_free_object(selection); }
void imgflow_html_close(void *document) { library.free_doc(document); }
