import CommandLineInterface
import Linux

/// Writes the image of `-o FILE`: whole or not at all.
enum OutputFile {
    /// The same as below.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try write(bytes, to: path)
        }
    }

    /// Writes beside the file and renames; a device, a pipe or a link is written into.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String
    ) throws(OutputError) {
        let place = try OutputPlace(path)
        if try place.isPlainFile {
            try place.replace(with: bytes)
        } else {
            try place.overwrite(with: bytes)
        }
    }

    /// Finds before the work what would keep `write` from writing; leaves everything as it is.
    static func check(_ path: String) throws(OutputError) {
        let place = try OutputPlace(path)
        if try place.isPlainFile {
            try place.tryReplacing()
        } else {
            try place.tryOpening()
        }
    }

    /// Writes beside the file and renames, whatever is there: nothing is ever waited for.
    static func replace(_ bytes: [UInt8], at path: String) throws(OutputError) {
        let place = try OutputPlace(path)
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try place.replace(with: bytes)
        }
    }

    /// What is not there, or cannot be removed, is left.
    static func remove(_ path: String) { try? OutputPlace(path).remove() }
}
