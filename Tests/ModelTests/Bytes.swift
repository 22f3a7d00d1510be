/// The bytes of a number, the least significant one first.
func little(_ number: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

/// The bytes of a number, the most significant one first.
func big(_ number: Int, _ count: Int = 4) -> [UInt8] { little(number, count).reversed() }

/// A box according to ISO/IEC 14496-12.
func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    return big(8 + content.count) + Array(type.utf8) + content
}
