import ImagebusWorker
import Linux

/// Loads `probe://WORD/…`: an image, or the behavior selected by the word.
struct ProbeLoader: Loader {
    let schemes = ["probe"]
    let credit = 4
    let begun: String
    let image: String

    func load(_ url: String, headers: [HTTPHeader], _ report: LoadReport) throws -> Loaded {
        let word = url.split(separator: "/").dropFirst().first ?? ""
        switch word {
        case "none":
            print("asked for none")
            return Loaded([])
        case "many": return Loaded([UInt8](repeating: 0, count: report.bytesMax + 1))
        case "fails": throw Failure(domain: "ProbeErrorDomain", code: 12, "as it was told")
        case "ours": throw ImageError(.invalidDownloadContentType, "as one of ours")
        case "breaks": throw Errno.noDevice
        case "waits":
            _ = Begun(path: begun).mark()
            Begun.wait { report.isCancelled }
            try report.check()
        case "deaf":
            // Waits without using the CPU, like a loader whose server doesn't respond.
            _ = Begun(path: begun).mark()
            let pipe = try FileDescriptor.pipe()
            _ = try pipe.readEnd.wait(for: .readable, milliseconds: nil)
            try pipe.writeEnd.close()
        case "counts":
            for step in 1...4 { try report(step * 25, of: 100) }
        default: break
        }
        let bytes = try FileDescriptor.open(image).readToEnd(bytesMax: report.bytesMax)
        return Loaded(bytes, etag: "\"probe\"")
    }
}
