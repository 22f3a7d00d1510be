/// Reads what a `ByteWriter` wrote; every answer is `nil` once the bytes do not suffice.
struct ByteReader {
    private let all: [UInt8]
    private var offset: Int

    init(_ bytes: [UInt8], from offset: Int = 0) {
        all = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { offset == all.count }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard offset <= all.count, count >= 0, count <= all.count - offset else { return nil }
        defer { offset += count }
        return Array(all[offset..<(offset + count)])
    }

    mutating func next<Value: FixedWidthInteger>(_: Value.Type) -> Value? {
        bytes(MemoryLayout<Value>.size).map { part in
            part.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(as: Value.self)) }
        }
    }

    mutating func next<Value: FixedWidthInteger>(_: Value.Type, count: Int) -> [Value]? {
        var values: [Value] = []
        for _ in 0..<count {
            guard let value = next(Value.self) else { return nil }
            values.append(value)
        }
        return values
    }

    mutating func text(_ count: Int) -> String? {
        bytes(count).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
