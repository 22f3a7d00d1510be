import Linux
import Messages

/// What a supervisor gives a child on a descriptor, since everybody may read its arguments and
/// some its environment.
enum InheritedSecret {
    /// The bytes; empty where no descriptor is named. It is closed then: before a worker touches
    /// anything of others, so that it has no other way to them.
    static func take(_ arguments: ProgramArguments) throws -> [UInt8] {
        let number = try arguments.number("secret-fd", else: -1)
        guard number >= 0, let number = Int32(exactly: number) else { return [] }
        return try FileDescriptor(owning: number).sealedBytes(bytesMax: DoorSecrets.byteCount)
    }
}
