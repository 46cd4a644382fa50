import FlowBase
import Testing

private func written(_ body: (inout JSONWriter) -> Void) -> String {
  var writer = JSONWriter()
  body(&writer)
  return writer.text
}

@Suite struct JSONWriterTests {
  @Test func `Commas stand between keys and elements, and nowhere else`() {
    let text = written { writer in
      writer.beginObject()
      writer.key("a")
      writer.int(1)
      writer.key(of: "b\"")
      writer.beginArray()
      writer.string("x")
      writer.null()
      writer.bool(true)
      writer.beginArray()
      writer.endArray()
      writer.endArray()
      writer.key("c")
      writer.double(0.5)
      writer.key("")
      writer.beginObject()
      writer.endObject()
      writer.endObject()
    }
    #expect(text == #"{"a":1,"b\"":["x",null,true,[]],"c":0.5,"":{}}"#)
  }

  @Test(arguments: [0, 1, -1, 9, 10, 99, 100, 1_000_000, Int.max, Int.min])
  func `Whole numbers are written with all their digits`(number: Int) {
    #expect(written { $0.int(number) } == String(number))
  }

  @Test func `Long keys and long texts are whole`() {
    let long = String(repeating: "0123456789", count: 1000)
    #expect(written { $0.string(long) } == "\"\(long)\"")
    let key = written { writer in
      writer.beginObject()
      writer.key("a_key_that_is_longer_than_any_other_key_of_any_event_that_there_will_ever_be")
      writer.int(-7)
      writer.endObject()
    }
    #expect(key == #"{"a_key_that_is_longer_than_any_other_key_of_any_event_that_there_will_ever_be":-7}"#)
  }

  @Test(arguments: [
    "", "a", "é写😀", "\"", "\\", "a\"b\\c", "\u{0}\u{1F}\u{7F}", "tab\tline\nreturn\r", "ends with \"", "\u{2028}",
  ])
  func `Every text reads back as it was`(text: String) throws {
    let json = written { $0.string(text) }
    #expect(try JSONReader.read(Array(json.utf8)) == .string(text))
    #expect(!json.utf8.contains { $0 < 0x20 || $0 == 0x7F })
  }

  @Test func `Times and milliseconds have a fixed form`() {
    #expect(
      written { $0.time(WallTime(microseconds: 1_795_195_800_000_042)) } == #""2026-11-20T17:30:00.000042Z""#)
    #expect(written { $0.time(WallTime(microseconds: -1)) } == #""1969-12-31T23:59:59.999999Z""#)
    #expect(WallTime(microseconds: 951_782_400_000_000).text == "2000-02-29T00:00:00.000000Z")
    #expect(written { $0.milliseconds(nanoseconds: 1_204_331_999) } == "1204.331")
    #expect(written { $0.milliseconds(nanoseconds: 5_000) } == "0.005")
  }
}
