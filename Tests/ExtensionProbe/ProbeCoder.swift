import ImagebusWorker
import Linux

/// A QOI coder whose first call behaves as the number of columns selects; otherwise each sample
/// equals the number of columns.
struct ProbeCoder: Coder {
    let format = ImageFormat.qoi
    let begun: String

    func header(of data: Span<UInt8>) throws -> PixelForm {
        guard data.count > 12, let bands = PixelForm.Bands(rawValue: Int(data[12])) else {
            throw InvalidInput("it is too short")
        }
        if data[7] == 9 { throw Failure(domain: "ProbeErrorDomain", code: -7, "no nines") }
        return PixelForm(width: Int(data[7]), height: Int(data[11]), bands: bands)
    }

    func pixels(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws {
        switch header.size.width {
        case 1 where !Begun(path: begun).mark(): Begun.wait()
        case 2 where !Begun(path: begun).mark():
            Begun.wait { cancellation.isCancelled }
            try cancellation.check()
        case 3: throw Errno.noDevice
        case 4: CurrentProcess.endAtOnce(1)
        // Leaves the pixels unwritten.
        case 5: return
        default: break
        }
        for index in pixels.indices { pixels[index] = UInt8(header.size.width) }
    }
}
