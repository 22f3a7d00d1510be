import CommandLineInterface
import ImageModel
import Linux

/// A watermark that is a file, or the bytes of one: the stack loads it like any image, from a copy
/// in the runtime directory. The copy is named by its bytes, so that another image has other keys.
struct ServedWatermark: Hashable {
    private let bytes: [UInt8]

    /// Bytes of a watermark.
    private static let bytesMax = 4 << 20
    private static let folder = "watermark"

    /// The path of a file, or `data:` with Base64; nil for a URL. Throws for what is no image.
    init?(_ text: String) throws(UsageError) {
        if text.lowercased().hasPrefix("data:") {
            bytes = try Self.bytes(ofData: text)
        } else if text.contains("://") {
            return nil
        } else {
            bytes = try Self.bytes(at: OptionValue.path(text))
        }
        guard bytes.count <= Self.bytesMax else {
            throw UsageError("the image has more than \(Self.bytesMax) bytes")
        }
        guard
            ImageFormat.sniff(bytes, tail: bytes.suffix(100))
                != .undefined
        else { throw UsageError("this is not an image in a format that is read") }
    }

    private static func bytes(at path: String) throws(UsageError) -> [UInt8] {
        do throws(Errno) {
            return try FileDescriptor.open(path).readToEnd(bytesMax: bytesMax + 1)
        } catch {
            throw UsageError("\(path) cannot be read (\(error)): name an image or its URL")
        }
    }

    private static func bytes(ofData text: String) throws(UsageError) -> [UInt8] {
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasSuffix(";base64") else {
            throw UsageError("write data:;base64, and then the image in Base64")
        }
        var digits = parts[1].utf8.filter { ![0x0A, 0x0D, 0x20].contains($0) }
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard let bytes = Base64.bytes(ofDigits: digits, last: (UInt8(ascii: "+"), 0x2F)) else {
            throw UsageError("what is behind data:;base64, is not Base64")
        }
        return bytes
    }

    /// What the gateway asks for.
    var url: String { "\(FileRoot.watermarkScheme):///\(name)" }

    /// Where its copy is, below a runtime directory.
    static func root(in runtimeDirectory: String) -> String { "\(runtimeDirectory)/\(folder)" }

    /// Leaves the copy there.
    func leave(in runtimeDirectory: String) throws(OutputError) {
        let root = Self.root(in: runtimeDirectory)
        try? FileDescriptor.makeDirectory(path: root)
        try OutputFile.replace(bytes, at: "\(root)/\(name)")
    }

    /// FNV-1a of the bytes, and how many there are. Whoever chooses the image is the operator.
    private var name: String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return String(hash, radix: 16) + "-\(bytes.count)"
    }
}
