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

  @Test func `Whole numbers of every length are`() {
    var number = 1
    for _ in 0..<18 {
      number *= 10
      for near in [number - 1, number, number + 1, -number] {
        #expect(written { $0.int(near) } == String(near))
      }
    }
  }

  @Test func `Texts of every length are whole, with something to escape at every place`() throws {
    let letters = String(repeating: "abcdefghijklmnopqrstuvwxyz", count: 3)
    for count in 0...70 {
      let text = String(letters.prefix(count))
      #expect(written { $0.string(text) } == "\"\(text)\"")
      for place in 0..<count {
        var bytes = Array(text.utf8)
        bytes[place] = UInt8(ascii: "\"")
        let quoted = String(decoding: bytes, as: UTF8.self)
        #expect(try JSONReader.read(Array(written { $0.string(quoted) }.utf8)) == .string(quoted))
      }
    }
  }

  @Test func `Keys of every length are whole`() {
    let text = written { writer in
      writer.beginObject()
      for name: StaticString in [
        "", "1", "12", "123", "1234", "12345", "123456", "1234567", "12345678", "123456789", "1234567890",
        "12345678901", "123456789012345", "1234567890123456", "12345678901234567", "123456789012345678",
      ] {
        writer.key(name)
        writer.int(name.utf8CodeUnitCount)
      }
      writer.endObject()
    }
    let lengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 18]
    let digits = "123456789012345678"
    #expect(text == "{" + lengths.map { "\"\(digits.prefix($0))\":\($0)" }.joined(separator: ",") + "}")
  }

  @Test func `A writer grows, goes on behind bytes, and appends to a buffer`() {
    var writer = JSONWriter(after: Array(#"{"head":"#.utf8))
    writer.beginArray()
    for number in 0..<2000 { writer.int(number) }
    writer.endArray()
    writer.endObject()
    var buffer = Array("before ".utf8)
    writer.append(to: &buffer)
    let expected = #"{"head":["# + (0..<2000).map(String.init).joined(separator: ",") + "]}"
    #expect(String(decoding: buffer, as: UTF8.self) == "before " + expected)
    #expect(writer.bytes == Array(expected.utf8))
    #expect(writer.count == expected.utf8.count)
    writer.reset()
    writer.bool(false)
    #expect(writer.text == "false")
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
