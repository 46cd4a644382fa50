internal import CVips
internal import FlowBase

/// A value for an operation of libvips.
enum VipsValue {
  case int(Int)
  case double(Double)
  case flag(Bool)
  case text(String)
  case image(VipsImage)
  case images([VipsImage])
  case numbers([Double])
  case bytes(PinnedBytes)
}

/// Calls operations of libvips by name.
enum Vips {
  /// Runs an operation that gives an image.
  static func image(_ operation: String, _ values: KeyValuePairs<String, VipsValue>) throws -> VipsImage {
    try image(operation, values.map { ($0.key, $0.value) })
  }

  /// Runs an operation that gives an image.
  static func image(_ operation: String, _ values: [(String, VipsValue)]) throws -> VipsImage {
    let call = try VipsCall(operation, values)
    guard let image = unsafe imgflow_vips_get_image(call.handle, "out") else { throw VipsFailure.take() }
    return unsafe VipsImage(image)
  }

  /// Runs an operation for what it does, and not for what it gives.
  static func run(_ operation: String, _ values: KeyValuePairs<String, VipsValue>) throws {
    _ = try VipsCall(operation, values.map { ($0.key, $0.value) })
  }

  /// Runs an operation that gives bytes.
  static func bytes(_ operation: String, _ values: [(String, VipsValue)]) throws -> [UInt8] {
    let call = try VipsCall(operation, values)
    let box = ByteBox()
    let context = unsafe Unmanaged.passUnretained(box).toOpaque()
    let code = unsafe imgflow_vips_get_bytes(call.handle, "buffer", context) { context, bytes, count in
      guard let context = unsafe context, let bytes = unsafe bytes else { return }
      let box = unsafe Unmanaged<ByteBox>.fromOpaque(context).takeUnretainedValue()
      box.bytes = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
    guard code == 0 else { throw VipsFailure.take() }
    return box.bytes
  }
}

private final class ByteBox {
  var bytes: [UInt8] = []
}

/// One call: set, run, and freed with the object.
@safe private final class VipsCall {
  let handle: OpaquePointer

  init(_ operation: String, _ values: [(String, VipsValue)]) throws {
    guard let handle = unsafe imgflow_vips_call_new(operation) else { throw VipsFailure.take() }
    unsafe self.handle = handle
    for (name, value) in values { set(name, value) }
    guard unsafe imgflow_vips_run(handle) == 0 else { throw VipsFailure.take() }
  }

  deinit { unsafe imgflow_vips_call_free(handle) }

  private func set(_ name: String, _ value: VipsValue) {
    switch value {
    case .int(let number): unsafe imgflow_vips_set_int(handle, name, Int32(clamping: number))
    case .flag(let flag): unsafe imgflow_vips_set_int(handle, name, flag ? 1 : 0)
    case .double(let number): unsafe imgflow_vips_set_double(handle, name, number)
    case .text(let text): unsafe imgflow_vips_set_text(handle, name, text)
    case .image(let image): unsafe imgflow_vips_set_image(handle, name, image.handle)
    case .images(let images):
      var handles: [OpaquePointer?] = unsafe images.map { unsafe $0.handle }
      unsafe imgflow_vips_set_images(handle, name, &handles, Int32(images.count))
    case .numbers(let numbers): unsafe imgflow_vips_set_numbers(handle, name, numbers, Int32(numbers.count))
    case .bytes(let bytes): unsafe imgflow_vips_set_bytes(handle, name, bytes.start, bytes.count)
    }
  }
}

/// Bytes that stay at one place in memory for as long as the object lives.
@safe final class PinnedBytes: Sendable {
  nonisolated(unsafe) let start: UnsafeMutableRawPointer
  let count: Int

  /// A copy of bytes.
  init(_ bytes: [UInt8]) {
    count = bytes.count
    unsafe start = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
    unsafe bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { unsafe start.copyMemory(from: base, byteCount: source.count) }
    }
  }

  deinit { unsafe start.deallocate() }

  /// The bytes of a range, as far as there are any.
  func array(_ range: Range<Int>) -> [UInt8] {
    let range = range.clamped(to: 0..<count)
    return unsafe Array(UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count))
  }

  subscript(place: Int) -> UInt8 { unsafe start.load(fromByteOffset: place, as: UInt8.self) }
}
