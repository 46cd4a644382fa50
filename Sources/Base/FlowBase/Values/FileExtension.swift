/// The extensions that files of a media type have.
public enum FileExtension {
  /// The usual extension of a media type, without the dot; nil for types without one.
  public static func usual(for media: String) -> String? {
    if let known = table[media] { return known }
    // Most types that are not in the table are written plainly.
    let isPlain = media.utf8.allSatisfy { $0 != UInt8(ascii: ";") && $0 > UInt8(ascii: " ") && !(65...90).contains($0) }
    if isPlain { return nil }
    let essence = media.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    return table[essence]
  }

  private static let table: [String: String] = [
    "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif", "image/avif": "avif",
    "image/heic": "heic", "image/heif": "heif", "image/tiff": "tif", "image/bmp": "bmp", "image/jxl": "jxl",
    "image/jp2": "jp2", "image/svg+xml": "svg", "image/vnd.microsoft.icon": "ico",
    "image/vnd.adobe.photoshop": "psd", "application/pdf": "pdf", "application/zip": "zip",
    "application/gzip": "gz", "application/zstd": "zst", "application/x-bzip2": "bz2", "application/x-xz": "xz",
    "application/x-7z-compressed": "7z", "application/vnd.rar": "rar", "application/x-tar": "tar",
    "application/json": "json", "application/xml": "xml", "application/vnd.sqlite3": "sqlite",
    "application/ogg": "ogg", "text/plain": "txt", "text/html": "html", "text/css": "css", "text/csv": "csv",
    "text/markdown": "md", "video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov",
    "video/x-msvideo": "avi", "audio/mpeg": "mp3", "audio/flac": "flac", "audio/wav": "wav", "audio/ogg": "ogg",
    "font/woff": "woff", "font/woff2": "woff2",
  ]
}
