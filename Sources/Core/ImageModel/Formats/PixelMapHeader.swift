/// The header of pixels as they are: PAM, the last of Netpbm's formats (pam(5)). Lines of text, and
/// behind them the samples, row by row from the top, interleaved, without padding.
///
/// Ours has always as many bytes, so that where a block begins well for a processor, its pixels do.
public struct PixelMapHeader: Hashable, Sendable {
    /// Columns and rows.
    public let size: PixelSize
    /// Samples of a pixel: 1 grey, 2 grey and alpha, 3 red, green and blue, 4 these and alpha.
    public let bands: Int

    /// Bytes before the first sample.
    public static let byteCount = 128

    /// Of pixels with 1 to 4 samples of 8 bits.
    package init(size: PixelSize, bands: Int) { (self.size, self.bands) = (size, bands) }

    /// What this library's own header says; `nil` where the bytes do not begin with one, or are not
    /// as many as it says.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > Self.byteCount else { return nil }
        var words: [String: Int] = [:]
        let text = String(decoding: bytes[..<Self.byteCount], as: UTF8.self)
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2, let value = Int(parts[1]) { words[String(parts[0])] = value }
        }
        guard let width = words["WIDTH"], let height = words["HEIGHT"], let bands = words["DEPTH"],
            (1...4).contains(bands), (1...Int(Int32.max)).contains(width),
            (1...Int(Int32.max)).contains(height)
        else { return nil }
        self.init(size: PixelSize(width: width, height: height), bands: bands)
        guard let count = sampleCount, bytes.count == Self.byteCount + count,
            self.bytes.elementsEqual(bytes[..<Self.byteCount])
        else { return nil }
    }

    /// Bytes of all samples; `nil` where that is no number.
    public var sampleCount: Int? {
        guard let area = size.area else { return nil }
        let (count, overflow) = area.multipliedReportingOverflow(by: bands)
        return overflow ? nil : count
    }

    /// It as a file has it.
    package var bytes: [UInt8] {
        let kinds = ["GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"]
        let start = """
            P7
            WIDTH \(size.width)
            HEIGHT \(size.height)
            DEPTH \(bands)
            MAXVAL 255
            TUPLTYPE \(kinds[bands - 1])

            """
        let end = "ENDHDR\n"
        // A comment makes it as long as all of them are.
        let padding = Self.byteCount - start.utf8.count - end.utf8.count - 2
        return Array((start + "#" + String(repeating: " ", count: padding) + "\n" + end).utf8)
    }
}

extension HeaderBytes {
    /// Bytes in which the header of a PAM has to say its size.
    private static let pamBytesMax = 512

    /// The size of a PAM, whoever wrote it.
    package var pamSize: PixelSize? {
        guard has("P7\n", at: 0) else { return nil }
        var (width, height): (Int?, Int?)
        var line: [UInt8] = []
        for place in 3..<Self.pamBytesMax {
            guard let byte = byte(place) else { return nil }
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            switch (words.first, words.count) {
            case ("WIDTH", 2): width = Int(words[1])
            case ("HEIGHT", 2): height = Int(words[1])
            case ("ENDHDR", 1):
                guard let width, let height, width > 0, height > 0,
                    max(width, height) <= Int(Int32.max)
                else { return nil }
                return PixelSize(width: width, height: height)
            default: break
            }
            line.removeAll(keepingCapacity: true)
        }
        return nil
    }
}
