import Glibc

/// The stored data: numbered images with sizes spread evenly on a logarithmic scale, 4 to 400 KiB.
///
/// There are 256 sizes, so that a web server can have a file of each. A body begins with its
/// number; all other bytes encode its size class.
struct Images {
    /// Bodies up to this size aren't scaled, as the cache keeps them in its index.
    private static let unscaledBytes = 16_384
    private static let (smallest, largest) = (4_096.0, 409_600.0)
    private static let numberBytes = 8
    static let sizeCount = 256

    /// The factor applied to the part of a body above 16 KiB.
    let scale: Double

    /// The size of that image in bytes.
    func bytes(_ number: Int) -> Int { bytes(ofClass: Self.sizeClass(number)) }

    private func bytes(ofClass index: Int) -> Int {
        let part = Double(index) / Double(Self.sizeCount - 1)
        let bytes = Int(Self.smallest * pow(Self.largest / Self.smallest, part))
        guard bytes > Self.unscaledBytes else { return bytes }
        return Self.unscaledBytes + Int(Double(bytes - Self.unscaledBytes) * scale)
    }

    /// A web server's file of one size, without a number.
    func file(ofClass index: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: Self.numberBytes)
            + [UInt8](repeating: UInt8(index), count: bytes(ofClass: index) - Self.numberBytes)
    }

    /// Fills `target`, which has the image's size, with the image of that number.
    func fill(_ target: UnsafeMutableRawBufferPointer, _ number: Int) {
        let byte = UInt8(Self.sizeClass(number))
        target.initializeMemory(as: UInt8.self, repeating: byte)
        target.storeBytes(of: UInt64(number), as: UInt64.self)
    }

    /// Whether every byte matches that image.
    func areRight(_ bytes: UnsafeRawBufferPointer, _ number: Int) -> Bool {
        guard bytes.count == self.bytes(number), let start = bytes.baseAddress,
            bytes.loadUnaligned(as: UInt64.self) == UInt64(number),
            bytes[Self.numberBytes] == UInt8(Self.sizeClass(number))
        else { return false }
        // Each byte equals the previous one.
        let second = start + Self.numberBytes
        return memcmp(second, second + 1, bytes.count - Self.numberBytes - 1) == 0
    }

    /// The same as in disk-reader.c.
    private static func sizeClass(_ number: Int) -> Int { number * 97 % sizeCount }

    /// The URL, which is the key of the original bytes.
    static func key(_ number: Int) -> String {
        "https://images.example.org/gallery/\(number % 1_000)/\(number).jpg"
            + "?width=512&height=384&fit=cover&revision=20261124"
    }
}
