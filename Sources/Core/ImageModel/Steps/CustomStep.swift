/// A step that no worker of this project does: its name says whose it is, and a worker that is
/// granted it knows what it means. It leaves the size of the image.
public struct CustomStep: Hashable, Sendable {
    /// `vendor.step`: words of small letters, digits, `_` and `-` with points between them, at
    /// least one of those, so that no step of this project is ever called so.
    public let name: String
    /// Values by name; their order says nothing.
    public let parameters: [String: String]

    /// Takes any texts; those that may not be are refused with the request.
    public init(_ name: String, parameters: [String: String] = [:]) {
        (self.name, self.parameters) = (name, parameters)
    }

    /// `vendor.step` or `vendor.step:KEY=VALUE,…`; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var parameters: [String: String] = [:]
        let pairs = parts.dropFirst().flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        for pair in pairs {
            let words = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard words.count == 2,
                parameters.updateValue(String(words[1]), forKey: String(words[0])) == nil
            else { return nil }
        }
        self.init(String(parts[0]), parameters: parameters)
        guard isValid else { return nil }
    }
}

extension CustomStep: NamedStep {
    /// Values have no character that a key could be taken apart at.
    package var key: String {
        let texts = parameters.sorted { $0.key < $1.key }.map { ",\($0.key)=\($0.value)" }
        return "ImagebusCustomTransformer(\(name)\(texts.joined()))"
    }

    /// Nobody here knows what it does.
    package var demand: StepDemand { .everything }

    package func check(pixelsMax: Int) throws(ImageError) {
        guard isValid else {
            throw ImageError(
                .invalidRequest,
                "custom: expected \(Self.syntax.expected); at most \(RequestLimits.parametersMax) "
                    + "parameters, \(RequestLimits.nameBytesMax) bytes of each name and "
                    + "\(RequestLimits.parameterBytesMax) of each value")
        }
    }

    /// Why it is not done.
    package var notGranted: ImageError {
        ImageError(
            .stepFailed,
            "no worker here is granted the step \(name): leave it out, or ask the operator",
            details: ["step": name])
    }

    static let syntax = StepSyntax(
        "custom", value: "NAME[:K=V,...]",
        "a step that a worker of the operator's does (repeatable)",
        expected: "VENDOR.STEP[:KEY=VALUE,...] of letters, digits, '.', '_', '-' and, in values, "
            + "'+', such as acme.denoise:strength=0.5"
    ) { CustomStep($0).map { .custom($0) } }
}

extension CustomStep {
    /// Whether a step of somebody else may be called so.
    package static func isName(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= RequestLimits.nameBytesMax && words.count > 1
            && words.allSatisfy { !$0.isEmpty && $0.allSatisfy(Self.nameBytes.contains) }
    }

    /// Whether name and parameters are within their limits.
    package var isValid: Bool {
        Self.isName(name) && parameters.count <= RequestLimits.parametersMax
            && parameters.allSatisfy { Self.isKey($0.key) && Self.isValue($0.value) }
    }

    private static func isKey(_ text: String) -> Bool {
        (1...RequestLimits.nameBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy(nameBytes.contains)
    }

    private static func isValue(_ text: String) -> Bool {
        (1...RequestLimits.parameterBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy(valueBytes.contains)
    }

    private static let nameBytes = Set("abcdefghijklmnopqrstuvwxyz0123456789_-".utf8)
    private static let valueBytes = nameBytes.union("ABCDEFGHIJKLMNOPQRSTUVWXYZ.+".utf8)
}
