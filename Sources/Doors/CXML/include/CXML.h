#ifndef IMGFLOW_CXML_H
#define IMGFLOW_CXML_H

// The few calls of libxml2 that are used, from a table that is filled when the first of them is made: the library brings
// others along, and most runs read neither XML nor HTML.

// Loads the library; 0, or -1 where it is not there.
int imgflow_xml_load(void);

// A reader over bytes that a callback gives: how many, 0 at the end, -1 after an error. NULL where none can be made.
void *imgflow_xml_open(int (*read)(void *context, char *buffer, int length), void *context);
// 1 for a node, 0 at the end, -1 where the text is no XML.
int imgflow_xml_next(void *reader);
// What kind of node: 1 the start of an element, 15 its end, 3 text, 4 CDATA.
int imgflow_xml_kind(void *reader);
int imgflow_xml_is_empty(void *reader);
int imgflow_xml_line(void *reader);
const char *imgflow_xml_name(void *reader);
const char *imgflow_xml_text(void *reader);
// The value of an attribute, to be given back; NULL where there is none.
char *imgflow_xml_attribute(void *reader, const char *name);
void imgflow_xml_give_back(char *text);
void imgflow_xml_close(void *reader);

// A document of HTML, however broken; NULL where there is none in the bytes.
void *imgflow_html_parse(const char *bytes, int count, const char *encoding);
// The elements that an XPath expression names, in the order of the document; NULL where the expression is wrong.
void *imgflow_html_select(void *document, const char *expression);
int imgflow_html_count(void *selection);
const char *imgflow_html_name(void *selection, int place);
char *imgflow_html_attribute(void *selection, int place, const char *name);
char *imgflow_html_text(void *selection, int place);
void imgflow_html_drop_selection(void *selection);
void imgflow_html_close(void *document);

#endif
