import FlowBase
import FlowImage

/// Whatever the bytes are, the answer is a picture or a fault that says why not; and the same bytes get the same answer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  var reading = ReadOptions()
  reading.pixels = 1_000_000
  reading.frames = 50
  var encoding = EncodeOptions()
  encoding.format = .png
  let shape = PictureBranch(
    [.resize(Resize(width: 40, height: 40)), .monochrome(colour: .white, intensity: 0.5)], encoding: encoding)
  let small = PictureBranch([.resize(Resize(width: 16, height: nil))])
  for wish in [PictureJob.Wish.facts(full: false), .pictures([shape]), .pictures([small])] {
    let job = PictureJob(.bytes(bytes), reading: reading, wish: wish)
    let reply = PictureEngine.perform(job)
    if case .fault(let fault) = reply, fault.kind == .internal { fatalError("\(fault)") }
    if PictureEngine.perform(job) != reply { fatalError("the same bytes got another answer") }
  }
  return 0
}
