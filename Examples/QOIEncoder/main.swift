import ImagebusWorker

ImagebusWorker.run(QOIEncoder())
