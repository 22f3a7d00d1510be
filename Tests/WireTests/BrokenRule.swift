import Model
import Testing

@testable import Wire

/// A message that violates one rule of the protocol, and the fault that its decoder reports.
struct BrokenRule: CustomTestStringConvertible {
    let testDescription: String
    let frames: Frames
    let fault: FieldError

    init(
        _ name: String, _ kind: MessageKind, _ body: ProtobufBytes, _ field: String,
        _ problem: FieldError.Problem = .outOfRange
    ) {
        testDescription = name
        frames = Frames(kind, body)
        fault = FieldError(field: field, problem: problem)
    }

    /// Expects that `read` reports the fault.
    func isReported(for token: Token? = nil, by read: (Frames) throws -> Any) {
        #expect(throws: WireError.field(fault, token: token), "\(testDescription)") {
            try read(frames)
        }
    }
}

/// Parts of messages, which are within the rules unless a parameter says otherwise.
extension ProtobufBytes {
    static let none = ProtobufBytes()
    static let reference = none.number(3, 1).number(5, 10).number(6, 9)
    static let info = none.number(2, 1).number(3, 1).number(4, 1)

    /// An `Outcome` with a result in `field`.
    static func outcome(_ field: UInt64, _ result: ProtobufBytes) -> ProtobufBytes {
        none.number(1, 1).number(2, 1).message(field, result)
    }

    static func layout(
        bands: UInt64 = 3, offset: UInt64 = 0, width: UInt64 = 2, stride: UInt64 = 6,
        active: Double = 2, planes: Int = 1, orientation: UInt64 = 1
    ) -> ProtobufBytes {
        let plane = none.number(1, bands).number(2, offset).number(3, width).number(4, 1)
            .number(5, stride).double(6, active).double(7, 1)
        return none.repeating(planes) { $0.message(1, plane) }.number(2, orientation)
    }

    /// An `Outcome` with decoded frames.
    static func pixels(_ layout: ProtobufBytes, frames: Int = 1) -> ProtobufBytes {
        let frame = none.message(1, reference).message(2, layout)
        return outcome(12, none.message(1, info).repeating(frames) { $0.message(2, frame) })
    }
}

/// A text that is too long for a field.
func long(_ count: Int) -> String { String(repeating: "x", count: count) }
