/// Where the words of a control segment are; 64 bits each, little-endian.
enum ControlLayout {
    /// Bytes of the segment: one page.
    static let byteCount = 4_096
    /// "IBUSCTL" and version 1.
    static let magicValue: UInt64 = 0x014C_5443_5355_4249

    static let magic = 0
    /// Grows with every turn of the bus thread.
    static let heartbeat = 1
    /// The one job that is held, or 0; then its attempt. Together what the fault handler copies.
    static let job = 2
    static let attempt = 3
    /// The same at the moment of the fault.
    static let crashedJob = 4
    static let crashedAttempt = 5
    /// The signal that ends the process, or 0.
    static let signal = 6
    /// 1 while the coordinator knows the process, else 0.
    static let isWelcome = 7
    /// Why the process is ended where it did not crash (`ControlVerdict`), or 0.
    static let verdict = 8
    static let wordCount = 9
}
