import CommandLineInterface
import ImageModel
import Linux

/// Files of one load in a directory, each with its number in its name.
struct NumberedFiles {
    private let directory: String
    private let prefix: String
    /// Of a number, at least.
    private static let digits = 4

    /// Files such as `DIR/frame-0007.png`. Makes the directory itself, none above it, and finds
    /// what would keep the file of the first number from being written.
    init(_ prefix: String, in directory: String, from first: Int) throws(OutputError) {
        self.directory = directory.hasSuffix("/") ? directory : directory + "/"
        self.prefix = prefix
        do throws(Errno) {
            try FileDescriptor.makeDirectory(path: directory, mode: 0o777)
        } catch .fileExists {
        } catch {
            throw OutputError(destination: directory, reason: error, wasOpened: false)
        }
        try OutputFile.check(path(first, .png))
    }

    /// The file of a number.
    func path(_ number: Int, _ format: ImageFormat) -> String {
        let text = "\(number)"
        let zeros = String(repeating: "0", count: max(0, Self.digits - text.count))
        let ending = format.traits.extensions.first ?? format.name
        return "\(directory)\(prefix)-\(zeros)\(text).\(ending)"
    }
}
