import ImageModel
import Imagebus

extension LoadTask {
    /// How it ends, for what counts failures; it is cancelled unless it has ended after so long.
    func end(cancelledAfter delay: Duration? = nil) async -> Result<ImageResponse, ImageError> {
        let timer = delay.map { delay in
            Task.detached {
                try await Task.sleep(for: delay)
                self.cancel()
            }
        }
        defer { timer?.cancel() }
        do throws(ImageError) {
            return .success(try await response)
        } catch {
            return .failure(error)
        }
    }
}
