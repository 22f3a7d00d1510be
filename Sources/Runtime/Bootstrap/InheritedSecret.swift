import Linux
import Messages

/// What a supervisor gives a child on a descriptor, since everybody may read its arguments and
/// some its environment.
enum InheritedSecret {
    /// The bytes; nil where no descriptor is named. It is closed then: before a worker touches
    /// anything of others, so that it has no other way to them.
    static func take(_ arguments: ProgramArguments) throws -> [UInt8]? {
        guard let text = arguments.value(argument) else { return nil }
        guard let number = Int32(text), number >= 0 else {
            throw ProgramArgumentsError.notANumber(argument, text)
        }
        return try FileDescriptor(owning: number).sealedBytes(
            bytesMax: ListenerSecrets.byteCountMax)
    }

    private static let argument = "secret-fd"
}
