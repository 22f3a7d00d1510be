internal import CMicroHTTPD

/// The head of a request without a body, byte for byte: to know a request that was answered before.
///
/// The same head was not refused then, and is not looked at again. libmicrohttpd writes zeros over
/// whatever separates the parts of a head, so that other heads may have the same bytes then. Two
/// are the same only where each word of the first line, each name and each value lies where it did.
public struct HeadCopy {
    let method: String
    let target: String
    private let fields: [FieldPlace]
    /// From the version to behind the empty line.
    private let rest: [UInt8]

    init(_ head: RequestHead, _ method: String, _ target: String, on connection: OpaquePointer) {
        (self.method, self.target) = (method, target)
        rest = Array(head.rest)
        var walk = FieldWalk(from: head.version)
        walk.go(over: connection)
        fields = walk.places
    }

    /// Bytes that it takes.
    public var byteCount: Int {
        target.utf8.count + rest.count + fields.count * MemoryLayout<FieldPlace>.stride
            + MemoryLayout<HeadCopy>.size
    }

    func isSame(_ head: RequestHead, _ target: String, on connection: OpaquePointer) -> Bool {
        let methodCount = method.utf8.count
        guard head.isFirstLine(of: methodCount, target.utf8.count),
            strncmp(head.method, method, methodCount) == 0, self.target == target,
            isRest(head.rest)
        else { return false }
        var walk = FieldWalk(from: head.version, wanting: fields)
        walk.go(over: connection)
        return walk.isSame
    }

    private func isRest(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard rest.count == bytes.count, let start = bytes.baseAddress else { return false }
        return rest.withUnsafeBytes { memcmp($0.baseAddress ?? start, start, bytes.count) == 0 }
    }
}

/// Where a field lies, from the version on.
private struct FieldPlace: Equatable {
    let name, nameCount, value, valueCount: Int
}

/// Goes over the fields of a head: notes where they lie, or compares that.
private struct FieldWalk {
    private let start: Int
    private let wanted: [FieldPlace]?
    private var count = 0
    private var isOther = false
    private(set) var places: [FieldPlace] = []

    init(from version: UnsafePointer<CChar>, wanting wanted: [FieldPlace]? = nil) {
        (start, self.wanted) = (Int(bitPattern: version), wanted)
    }

    mutating func go(over connection: OpaquePointer) {
        withUnsafeMutablePointer(to: &self) { walk in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND, walkField, UnsafeMutableRawPointer(walk))
        }
    }

    /// Whether all that were wanted lie there, and no others.
    var isSame: Bool { !isOther && count == wanted?.count }

    /// Whether it goes on.
    mutating func take(_ place: (Int, Int, Int, Int)) -> Bool {
        let place = FieldPlace(
            name: place.0 - start, nameCount: place.1, value: place.2 - start,
            valueCount: place.3)
        guard let wanted else {
            places.append(place)
            return true
        }
        isOther = count >= wanted.count || wanted[count] != place
        count += 1
        return !isOther
    }
}

/// What the library calls for each field, in the order of their lines.
private func walkField(
    _ walk: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameCount: Int, _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let walk = walk?.assumingMemoryBound(to: FieldWalk.self) else { return .NO }
    let place = (Int(bitPattern: name), nameCount, Int(bitPattern: value), valueCount)
    return walk.pointee.take(place) ? .YES : .NO
}

extension EventedExchange {
    /// A copy of its head; `nil` where a body follows it, and where it has been answered.
    public var headCopy: HeadCopy? {
        guard standing == .reading || standing == .waiting, let head, !announcesBody else {
            return nil
        }
        return HeadCopy(head, method, target, on: connection.pointer)
    }

    /// Whether it has that head.
    public func has(_ copy: HeadCopy) -> Bool {
        guard standing == .reading, let head else { return false }
        return copy.isSame(head, target, on: connection.pointer)
    }
}
