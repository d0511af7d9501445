"""The least a page with eight small charts can cost: what `page_times.py` measures the explorer against."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

st.title("Floor")
n = st.number_input("Samples n", 1, 1000, 10)
st.button("Run")
for number in range(8):
    steps = np.arange(20)
    figure = go.Figure(go.Scatter(x=steps, y=np.sin(steps / n + number)), layout={"height": 240})
    st.plotly_chart(figure, key=f"chart-{number}")
st.markdown(f"n = {n}: finished.")
