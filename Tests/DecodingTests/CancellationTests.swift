import Model
import StageKit
import Testing
import Vips

@Suite struct CancellationTests {
    @Test func aCancelledJobComputesNothing() throws {
        let bytes = try Sources.encoded(.png(compression: 1), 10, 10) { x, _, _ in x }
        let cancellation = CancellationFlag()
        cancellation.cancel()
        let error = #expect(throws: ImageError.self) {
            try decode(bytes, cancellation: cancellation)
        }
        #expect(error?.code == .cancelled)
    }

    /// The first call for space comes just before the pixels are computed.
    @Test(arguments: [VipsEncoding.jpeg(quality: 80), .png(compression: 1)])
    func aBigJobStopsWhenItIsCancelledMidway(encoding: VipsEncoding) throws {
        let bytes = try Sources.large(encoding, side: 2048)
        let cancellation = CancellationFlag()
        let space = HeapSpace(onReserve: { cancellation.cancel() })
        let error = #expect(throws: ImageError.self) {
            try decode(bytes, space: space, cancellation: cancellation)
        }
        #expect(error?.code == .cancelled)
        #expect(space.untouched > 0.5)
    }
}
