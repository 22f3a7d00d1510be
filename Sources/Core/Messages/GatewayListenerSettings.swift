/// One listener of the HTTP gateway, as the configuration says it: a process of its own.
public struct GatewayListenerSettings: Hashable, Sendable {
    /// Where it listens.
    public var place: ListenPlace
    /// What is set of it; flags that are there have an empty text.
    public var values: [GatewaySetting: String]

    /// Listeners of one stack.
    public static let countMax = 16

    /// A listener that is told nothing else.
    public init(_ place: ListenPlace, values: [GatewaySetting: String] = [:]) {
        (self.place, self.values) = (place, values)
    }

    /// The arguments of `imagebus-gateway`, without its place.
    public var arguments: [String] { Self.arguments(values) }

    /// Settings as `imagebus-gateway` reads them.
    public static func arguments(_ values: [GatewaySetting: String]) -> [String] {
        GatewaySetting.allCases.flatMap { setting -> [String] in
            guard let value = values[setting] else { return [] }
            let name = "--\(setting.rawValue)"
            return setting.placeholder == nil ? [name] : [name, value]
        }
    }

    /// The same as the bytes of a file: each argument, and a zero byte behind it.
    public static func fileBytes(of arguments: [String]) -> [UInt8] {
        arguments.flatMap { Array($0.utf8) + [0] }
    }

    /// The arguments in such a file.
    public static func arguments(inFile bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
