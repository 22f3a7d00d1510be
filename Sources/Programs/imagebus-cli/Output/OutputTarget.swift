import CommandLineInterface
import Imagebus
import StackAccess

extension GetOptions.OutputTarget {
    /// Finds before the work what would keep the image from being written.
    func check() throws(OutputError) {
        switch self {
        case .none: break
        case .file(let path): try OutputFile.check(path)
        case .standardOutput: try StandardDescriptors.checkOutput()
        }
    }

    /// A miss has nothing to write.
    func write(_ image: ImageResponse) throws(OutputError) {
        guard !image.isMiss else { return }
        switch self {
        case .none: break
        case .file(let path):
            try image.withBytes { (bytes) throws(OutputError) in
                try OutputFile.write(bytes, to: path)
            }
        case .standardOutput:
            try image.withBytes { (bytes) throws(OutputError) in try Terminal.put(bytes) }
        }
    }
}
