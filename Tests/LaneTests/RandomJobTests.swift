import CodecSupport
import JPEG
import Model
import Testing

@Suite struct RandomJobTests {
    /// Steps after the first resize, crop or rotation may fail; then they fail in both lanes.
    @Test func whateverTheStepsBothLanesGiveOneImage() throws {
        var random = RandomSteps(seed: 5)
        for _ in 0..<RandomSteps.rounds(short: 40, long: 2000) {
            let subsampling = PlaneSubsampling.all[random.number(0...4)]
            let lanes = try Samples.jpeg(
                random.number(30...200), random.number(30...200), subsampling,
                orientation: random.number(1...8))
            let job = Job(random.steps(sideMax: 250), as: .png)
            do {
                try Tolerance.check(lanes, job, slack: 3)
            } catch let error as ImageError {
                let general = #expect(throws: ImageError.self) { try lanes.general(job) }
                #expect(general?.code == error.code, "\(job)")
            }
        }
    }
}
