import CommandLineInterface
import StackAccess

extension Command {
    static let doctor = Command(
        name: "doctor",
        summary: "look at this machine and its stack, and say what is short and what to type",
        usage: "[options]",
        options: [("", OperatorOptions.definitions + [.cacheDirectory, within])],
        notes: """
            A line for each thing: ok, short (it works with less than it could) or missing (it does
            not work), and below it what to type. Looked at are the kernel and what it has to close
            doors with, limits of descriptors, memory and transfers, room for shared memory and for
            the disk tier, the programs with their libraries and the formats that these read and
            write, and, where a stack runs, its sockets, its processes, and whether a small image
            goes through it. Nothing is changed.

            exit status: 0 nothing is missing, 1 something is
            """,
        examples: [
            ("imagebus doctor", "of this user's stack, and of the machine"),
            ("imagebus doctor --runtime-dir /run/imagebus --json", "of another one, for programs"),
        ])

    /// Of what has a canary.
    static let within = OptionDefinition(
        "within", value: "TIME",
        "for a small image on its way through all stages "
            + "(\(StackCanary.usualMilliseconds / 1_000)s)")
}
